include $(sort $(wildcard $(BR2_EXTERNAL_GIDWAY_PATH)/package/*/*.mk))
